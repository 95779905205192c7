"""Solves a five-point Laplacian with each preconditioner; rank 0 prints what came of it."""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

SIDE = 24
KINDS = ("none", "jacobi", "bjacobi", "asm", "sor", "gamg", "hypre", "lu")


def laplacian() -> PETSc.Mat:
    """Rows are shared out by PETSc; every rank sets its own."""
    matrix = PETSc.Mat().createAIJ([SIDE * SIDE] * 2, nnz=5)
    for row in range(*matrix.getOwnershipRange()):
        i, j = divmod(row, SIDE)
        matrix[row, row] = 4.0 + 0.01 * (i % 3)
        for y, x in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if 0 <= y < SIDE and 0 <= x < SIDE:
                matrix[row, y * SIDE + x] = -1.0
    matrix.assemble()
    return matrix


def solve(matrix: PETSc.Mat, kind: str) -> str:
    solution, right = matrix.createVecs()
    first, last = right.getOwnershipRange()
    right.setValues(range(first, last), [1.0 + (row % 7) / 7 for row in range(first, last)])
    right.assemble()
    solver = PETSc.KSP().create()
    solver.setOperators(matrix)
    solver.setType("preonly" if kind == "lu" else "gmres")
    solver.getPC().setType(kind)
    if kind == "lu":
        solver.getPC().setFactorSolverType("mumps")
    solver.setTolerances(rtol=1e-8)
    solver.solve(right, solution)
    left = right - matrix * solution
    return (
        f"{kind}: reason {solver.getConvergedReason()}, {solver.getIterationNumber()} iterations, "
        f"norm {solution.norm():.8g}, residual below 1e-6: {left.norm() < 1e-6 * right.norm()}"
    )


matrix = laplacian()
for kind in KINDS:
    PETSc.Sys.Print(solve(matrix, kind))
