"""Tensors where the frameworks' semantics differ: in-place operators, type promotion, subscripts."""
