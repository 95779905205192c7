program coarrays
  ! Heat in a ring of images, a counter that all change, a queue under a lock, sums and broadcasts.
  use, intrinsic :: iso_fortran_env
  implicit none
  integer, parameter :: n = 1000
  real(real64) :: cells(0:n+1)[*], next(n)
  integer(atomic_int_kind) :: counter[*]
  type(lock_type) :: gate[*]
  integer :: slots(1000)[*], used[*]
  integer :: me, many, left, right, step, i, was, checksum
  real(real64) :: total
  me = this_image(); many = num_images()
  left = merge(many, me - 1, me == 1); right = merge(1, me + 1, me == many)
  cells = 0; if (me == 1) cells(1:n) = 1
  slots = 0; used = 0
  call atomic_define(counter, 0)
  sync all
  do step = 1, 50
    cells(n+1)[left] = cells(1)
    cells(0)[right] = cells(n)
    sync all
    do i = 1, n
      next(i) = cells(i) + 0.25d0 * (cells(i-1) - 2 * cells(i) + cells(i+1))
    end do
    cells(1:n) = next
    sync all
  end do
  total = sum(cells(1:n))
  call co_sum(total)
  do i = 1, 20
    call atomic_fetch_add(counter[1], me, was)
  end do
  do i = 1, 10
    lock (gate[1])
    used[1] = used[1] + 1
    slots(used[1])[1] = me
    unlock (gate[1])
  end do
  sync all
  checksum = 0
  if (me == 1) then
    call atomic_ref(was, counter)
    checksum = sum(slots) * 1000 + used
    print '(a,f12.6,2(1x,i0))', 'coarrays', total, was, checksum
  end if
  call co_broadcast(checksum, 1)
  ! strided sections, both ways
  cells(1:n:3)[right] = [(real(me, real64), i = 1, n, 3)]
  sync all
  if (any(cells(1:n:3) /= left)) error stop 'strided put'
  next(1:n/2) = cells(1:n-1:2)[left]
  sync all
  if (me == 1) print '(a,i0)', 'ends ', checksum
end program
