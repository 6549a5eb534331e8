// malloc and free on the device; assert that holds.
#include <cassert>

#include "program.h"

struct Node {
  int value;
  Node* next;
};

__global__ void lists(int* out) {
  Node* head = nullptr;
  for (int i = 0; i < 5; ++i) {
    Node* node = static_cast<Node*>(malloc(sizeof(Node)));
    assert(node != nullptr);
    node->value = threadIdx.x * 10 + i;
    node->next = head;
    head = node;
  }
  int sum = 0;
  while (head) {
    sum = sum * 3 + head->value;
    Node* next = head->next;
    free(head);
    head = next;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  DeviceArray<int> out(256);
  lists<<<4, 64>>>(out.get());
  finish();
  show("lists", out.host(), 8);
}
