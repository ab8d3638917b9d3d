"""Runtime side of paddletorch: each framework's GradScaler semantics on the other framework's tensors."""
