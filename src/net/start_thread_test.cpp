#include "net/start_thread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>

namespace isthmus::net {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(StartThread, GetsNoSignals) {
  sigset_t before, blocked, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  start_thread("test", [&] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }).join();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&blocked, SIGUSR1), 1);
  EXPECT_EQ(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1));
}

// The system refuses it: no memory is free for a stack of this size.
TEST(StartThread, ARefusalIsAnErrorWithThreadReasonAndRemedy) {
  pthread_attr_t usual, huge;
  pthread_getattr_default_np(&usual);
  pthread_attr_init(&huge);
  pthread_attr_setstacksize(&huge, std::size_t{1} << 46);
  pthread_setattr_default_np(&huge);
  try {
    start_thread("test", [] {}).join();
    ADD_FAILURE() << "no error";
  } catch (const NoThread& refused) {
    EXPECT_THAT(refused.what(),
                AllOf(HasSubstr("the thread test: Resource temporarily unavailable"),
                      HasSubstr("ulimit -u")));
  }
  pthread_setattr_default_np(&usual);
  pthread_attr_destroy(&huge);
  pthread_attr_destroy(&usual);
}

}  // namespace
}  // namespace isthmus::net
