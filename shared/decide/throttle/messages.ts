import { reason } from '#shared/domain/base/because.ts';

/** Why a CPU limit is lowered, and why it is raised again. Amounts are millicores. */
export const THROTTLING = {
  lowered: reason(
    'CpuLimitLowered',
    (f: { readonly used: number; readonly request: number; readonly limit: number; readonly to: number }) =>
      `the node is short of CPU, and the pod uses ${f.used}m of ${f.request}m requested: CPU limit lowered from ${f.limit}m to ${f.to}m`,
  ),
  roomAgain: reason(
    'CpuNoLongerShort',
    (f: { readonly idle: number; readonly kept: number }) =>
      `the node has ${f.idle}m of idle CPU, of which ${f.kept}m are kept free`,
  ),
  notAsked: reason('ThrottlingNotAsked', () => 'the policy of the node does not enforce ThrottleCPU'),
  notMeasured: reason('CpuNotMeasured', () => 'the idle CPU of the node is not known'),
  heldLongest: reason(
    'ThrottledLongest',
    ({ minutes }: { readonly minutes: number }) => `no limit stays lowered for longer than ${minutes} minutes`,
  ),
  notApplied: reason(
    'ResizeNotApplied',
    ({ seconds }: { readonly seconds: number }) => `the kubelet has not applied the lower limit within ${seconds} s`,
  ),
  agentStops: reason('AgentStops', () => 'the agent stops'),
} as const;
