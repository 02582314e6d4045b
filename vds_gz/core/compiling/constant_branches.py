"""Branches that a constant decides go, with the statements that are never reached."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any


class ConstantBranches(ast.NodeTransformer):
    """Rewrites statements; conditions that are constants after rewriting choose their branch."""

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements, without those after a return. New ones have the lines of those that they replace."""
        body: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            for rewritten in new if isinstance(new, list) else [new] if new is not None else []:
                body.append(rewritten if hasattr(rewritten, "lineno") else ast.copy_location(rewritten, statement))
            if body and isinstance(body[-1], ast.Return):
                break
        return body or [ast.Pass()]

    def condition(self, node: ast.expr) -> ast.expr:
        """A condition, whose value counts only as true or false."""
        new: ast.expr = self.visit(node)
        if not isinstance(new, ast.BoolOp):
            return new
        decides = isinstance(new.op, ast.Or)
        if any(isinstance(value, ast.Constant) and bool(value.value) is decides for value in new.values):
            return ast.Constant(decides)
        values = [value for value in new.values if not isinstance(value, ast.Constant)]
        return values[0] if len(values) == 1 else ast.BoolOp(new.op, values)

    def visit_If(self, node: ast.If) -> Any:
        """The branch that a constant condition chooses, or both."""
        test = self.condition(node.test)
        if isinstance(test, ast.Constant):
            chosen = node.body if test.value else node.orelse
            return self.block(chosen) if chosen else None
        return ast.If(test, self.block(node.body), self.block(node.orelse) if node.orelse else [])

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """As of ``if``."""
        test = self.condition(node.test)
        if isinstance(test, ast.Constant):
            return self.visit(node.body if test.value else node.orelse)
        return ast.IfExp(test, self.visit(node.body), self.visit(node.orelse))

    def visit_While(self, node: ast.While) -> ast.AST:
        """The loop, with its condition."""
        orelse = self.block(node.orelse) if node.orelse else []
        return ast.While(self.condition(node.test), self.block(node.body), orelse)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """The operands up to the one that decides, without those that decide nothing."""
        decides = isinstance(node.op, ast.Or)
        values: list[ast.expr] = []
        for k, value in enumerate(node.values):
            new = self.visit(value)
            if isinstance(new, ast.Constant) and bool(new.value) is not decides and k < len(node.values) - 1:
                continue
            values.append(new)
            if isinstance(new, ast.Constant) and bool(new.value) is decides:
                break
        return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """``not`` of a constant is a constant."""
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        operand = self.condition(node.operand)
        return ast.Constant(not operand.value) if isinstance(operand, ast.Constant) else ast.UnaryOp(node.op, operand)
