import { runProgram } from '#test/cluster/support/run-program.ts';
import { NODE_ADDRESS, SERVICE_PLACE } from '#test/cluster/node/node-place.ts';

/** Gives the loopback interface of this process's network namespace, which must be a new one, the addresses of a node. */
export function setUpNodeNetwork(): void {
  runProgram('ip', ['link', 'set', 'lo', 'up']);
  for (const address of [SERVICE_PLACE.host, NODE_ADDRESS]) {
    runProgram('ip', ['address', 'add', `${address}/32`, 'dev', 'lo']);
  }
}
