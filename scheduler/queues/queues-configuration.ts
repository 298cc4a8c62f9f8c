import { z } from 'zod';

/** `queues` of SchedulerConfiguration. */
export const queuesSchema = z
  .strictObject({
    passes: z
      .enum(['Off', 'On'])
      .default('Off')
      .describe(
        'On lets pods of managed namespaces in when their queue has room, on one replica; reads all pods, also without the extender',
      ),
    reclaim: z
      .enum(['Off', 'DryRun', 'Enforce'])
      .default('DryRun')
      .describe(
        'Enforce evicts pods to make room for a pod whose queue is under its guarantee, DryRun logs which ones would go',
      ),
    reclaimBy: z
      .enum(['Guarantees', 'Shares'])
      .default('Guarantees')
      .describe(
        'Which queues reclaim. Guarantees: queues under their guarantee reclaim from queues over theirs. Shares: queues under their deserved share reclaim from queues over it',
      ),
    reclaimOveruse: z
      .enum(['Off', 'On'])
      .default('Off')
      .describe(
        'On evicts pods of a queue that has exceeded its maximum for longer than its delay, for example after the maximum was lowered; needs reclaim Enforce',
      ),
    replacements: z
      .enum(['First', 'InTurn'])
      .default('First')
      .describe(
        'First lets in replacements of evicted, preempted or lost pods before waiting pods of the same priority, for 60 s',
      ),
  })
  .prefault({});

export type QueuesConfiguration = z.output<typeof queuesSchema>;
