import { z } from 'zod';
import { FAMILIES } from '#shared/domain/nodes/plan-node-changes.ts';

const MODES = ['Off', 'DryRun', 'Enforce'] as const;

/** `nodes` of SchedulerConfiguration: what the leader writes to nodes and their NodePressure. */
export const nodesSchema = z
  .strictObject({
    avoidance: z
      .enum(MODES)
      .default('DryRun')
      .describe(
        'Enforce writes avoid lists, which keep replacements of evicted pods away from the node; DryRun only logs; Off does neither',
      ),
    taints: z
      .enum(MODES)
      .default('DryRun')
      .describe(
        'Enforce writes node taints and conditions while a node is under pressure; DryRun only logs; Off does neither',
      ),
    families: z
      .array(z.enum(FAMILIES))
      .default(['Memory', 'Cpu', 'Io'])
      .describe(
        `Resources with a taint and a condition, of ${FAMILIES.join(', ')}; for Disk and Pid the kubelet has taints of its own`,
      ),
    transitionSeconds: z
      .number()
      .min(0)
      .max(3_600)
      .default(60)
      .describe('How long a taint stays after the agent reports that the pressure has ended'),
    unknownSeconds: z
      .number()
      .min(0)
      .max(86_400)
      .default(600)
      .describe('How long a taint stays while the report of the agent is stale or missing'),
    mostTaintedPercent: z
      .number()
      .min(0)
      .max(100)
      .default(33)
      .describe('Maximum nodes with a taint at once, in percent of all nodes; one node is always allowed'),
    writesPerMinute: z
      .number()
      .int()
      .min(1)
      .max(6_000)
      .default(120)
      .describe(
        'Maximum writes of taints and conditions per minute; avoid lists have a separate limit of the same size',
      ),
    avoidForSeconds: z
      .number()
      .min(0)
      .max(86_400)
      .default(600)
      .describe('How long an owner is kept away after an eviction if no NodePressurePolicy sets avoidFor'),
    longestAvoidSeconds: z
      .number()
      .min(1)
      .max(86_400)
      .default(3_600)
      .describe('Maximum time that an owner is kept away, even if avoidFor is longer; also the time after a loop'),
    loopRounds: z
      .number()
      .int()
      .min(2)
      .max(16)
      .default(3)
      .describe('How many times an owner must be evicted from one node within loopWindowSeconds for a loop'),
    loopWindowSeconds: z
      .number()
      .min(60)
      .max(86_400)
      .default(3_600)
      .describe('Period over which these evictions are counted'),
    loopAction: z
      .enum(['Avoid', 'Forbid'])
      .default('Avoid')
      .describe(
        'What a loop does: Avoid makes the node the last choice for the owner, with Forbid the extender forbids it',
      ),
  })
  .prefault({});

export type NodesConfiguration = z.output<typeof nodesSchema>;
