// A doubly linked list whose links live in the elements, so that queueing never allocates. The
// list owns nothing; an element must leave it before it dies.
#pragma once

namespace isthmus::core {

template <class T>
struct Links {
  T* next = nullptr;
  T* previous = nullptr;
  bool linked = false;
};

template <class T, Links<T> T::*kLinks>
class IntrusiveList {
 public:
  bool empty() const { return head_ == nullptr; }
  T* front() const { return head_; }
  static T* next(const T& element) { return (element.*kLinks).next; }
  static bool contains(const T& element) { return (element.*kLinks).linked; }

  void push_back(T& element) {
    Links<T>& links = element.*kLinks;
    links = {.next = nullptr, .previous = tail_, .linked = true};
    (tail_ ? (tail_->*kLinks).next : head_) = &element;
    tail_ = &element;
  }

  void erase(T& element) {
    Links<T>& links = element.*kLinks;
    (links.previous ? (links.previous->*kLinks).next : head_) = links.next;
    (links.next ? (links.next->*kLinks).previous : tail_) = links.previous;
    links = {};
  }

  /// `other`, which is in no list, takes the place of an element.
  void replace(T& element, T& other) {
    Links<T>& links = other.*kLinks;
    links = element.*kLinks;
    (links.previous ? (links.previous->*kLinks).next : head_) = &other;
    (links.next ? (links.next->*kLinks).previous : tail_) = &other;
    element.*kLinks = {};
  }

  T& pop_front() {
    T& element = *head_;
    erase(element);
    return element;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
};

}  // namespace isthmus::core
