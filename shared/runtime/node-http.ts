/**
 * `node:http` without its ES module facade. Importing it by name reads every lazy export once, which loads the
 * WebSocket client behind `http.WebSocket`: 7 MiB of resident memory in a process that never opens one.
 */
export const nodeHttp = process.getBuiltinModule('node:http');
