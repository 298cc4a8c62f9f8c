export const SIGNALS = ["memory.available","allocatableMemory.available","pid.available"];
export const SHORTAGES = ["Memory","Cpu","Io","Disk","Pid"];
