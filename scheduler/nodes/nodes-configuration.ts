import { z } from 'zod';

/** `nodes` of SchedulerConfiguration; what is written for which nodes is said by their NodePressurePolicy. */
export const nodesSchema = z
  .strictObject({
    passes: z
      .enum(['Off', 'On'])
      .default('On')
      .describe(
        'On keeps avoid lists, taints and conditions of nodes as their NodePressurePolicy says, on one replica; a dry run unless it says Enforce',
      ),
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
  })
  .prefault({});

export type NodesConfiguration = z.output<typeof nodesSchema>;
