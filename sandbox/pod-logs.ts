import type { PodLogs } from '#sandbox/api-server/operations/server-state.ts';
import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import { streamLog } from './node/containers/stream-log.ts';
import type { SandboxNode } from '#sandbox/node/run-node.ts';

/** Passes requests for a pod's log to the node, once there is one. */
export function podLogsFrom(node: () => SandboxNode | undefined, now: () => number): PodLogs {
  return (request) => {
    const { name, uid = '' } = request.pod.metadata;
    const buffer = node()?.log(uid, request.container, request.previous);
    if (buffer !== undefined) return streamLog(buffer, request, now());
    const which = request.previous ? 'previous terminated container' : 'container';
    throw badRequest(`${which} "${request.container}" in pod "${name}" is waiting to start`);
  };
}
