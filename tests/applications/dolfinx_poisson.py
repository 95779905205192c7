"""The Poisson equation on a unit square, after the demo of DOLFINx; rank 0 prints figures of it."""

import numpy as np
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py.PETSc import ScalarType
from ufl import ds, dx, grad, inner

world = MPI.COMM_WORLD
domain = mesh.create_rectangle(
    comm=world,
    points=((0.0, 0.0), (2.0, 1.0)),
    n=(32, 16),
    cell_type=mesh.CellType.triangle,
)
space = fem.FunctionSpace(domain, ("Lagrange", 1))
facets = mesh.locate_entities_boundary(
    domain, dim=1, marker=lambda x: np.isclose(x[0], 0.0) | np.isclose(x[0], 2.0)
)
fixed = fem.locate_dofs_topological(V=space, entity_dim=1, entities=facets)
boundary = fem.dirichletbc(value=ScalarType(0), dofs=fixed, V=space)
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
x = ufl.SpatialCoordinate(domain)
f = 10 * ufl.exp(-((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2) / 0.02)
g = ufl.sin(5 * x[0])
problem = fem.petsc.LinearProblem(
    inner(grad(u), grad(v)) * dx,
    inner(f, v) * dx + inner(g, v) * ds,
    bcs=[boundary],
    petsc_options={"ksp_type": "cg", "pc_type": "jacobi", "ksp_rtol": 1e-10},
)
solution = problem.solve()
energy = world.allreduce(fem.assemble_scalar(fem.form(inner(solution, solution) * dx)))
cells = domain.topology.index_map(2)
if world.rank == 0:
    print(f"{cells.size_global} cells, {space.dofmap.index_map.size_global} unknowns")
    print(f"L2 norm {energy**0.5:.9f}")
