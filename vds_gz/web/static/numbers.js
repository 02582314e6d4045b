// Numbers as people read them.

// With so many digits after the point. What is rounded to zero has no sign.
export function fixed(value, digits) {
  return value.toFixed(digits).replace(/^-(?=[0.]+$)/, "");
}
