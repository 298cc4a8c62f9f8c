export const SIGNALS = ["memory.available","allocatableMemory.available","pid.available"];
