#include "net/host/start_thread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>

#include "net/host/no_threads_testbed.hpp"

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

TEST(StartThread, ARefusalIsAnErrorWithThreadReasonAndRemedy) {
  const NoThreads none;
  try {
    start_thread("test", [] {}).join();
    ADD_FAILURE() << "no error";
  } catch (const NoThread& refused) {
    EXPECT_THAT(refused.what(),
                AllOf(HasSubstr("the thread test: Resource temporarily unavailable"),
                      HasSubstr("ulimit -u")));
  }
}

}  // namespace
}  // namespace isthmus::net
