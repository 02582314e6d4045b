// Numbers as people read them.

// A number with `digits` digits after the point. A number that is rounded to zero has no sign.
export function fixed(value, digits) {
  return value.toFixed(digits).replace(/^-(?=[0.]+$)/, "");
}
