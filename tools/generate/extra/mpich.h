// As ompi.h, for MPICH: what 4.0's libraries export and 5.0's mpi.h does not declare.

int PMPIX_Delete_error_class(int errorclass);
int PMPIX_Delete_error_code(int errorcode);
int PMPIX_Delete_error_string(int errorcode);
