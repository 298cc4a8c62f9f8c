import { nodePolicy, WRITING_TAINTS } from '#test/scheduler/nodes/node-policies.ts';

/** Avoid lists, taints and conditions of every node are written, and taints go as soon as the pressure ends. */
export const ENFORCING_NODES = nodePolicy('enforcing-nodes', { avoidance: { mode: 'Enforce' }, ...WRITING_TAINTS });
