// Runs a program on the device and as the model has it, and compares. Between launches that need an order it puts
// events, and no more than those: launches that need none overlap.
#pragma once

#include <string>

#include "device.h"

namespace mulciber::random_graphs {

// What is wrong; empty when nothing is.
std::string run(Device& device, const Program& program);

// The program with as many steps, nodes and edges taken out as can be while it stays wrong.
Program shrink(Device& device, Program program);

}  // namespace mulciber::random_graphs
