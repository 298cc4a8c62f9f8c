import { z } from 'zod';
import { LONGEST_WINDOW_MS, MOST_ROUNDS } from '#shared/domain/preemption/loop/loop-record.ts';

/** `preemptionLoops` of SchedulerConfiguration: what is done where two owners preempt each other in turn. */
export const loopsSchema = z
  .strictObject({
    mode: z
      .enum(['Off', 'DryRun', 'Enforce'])
      .default('DryRun')
      .describe('Enforce breaks a loop as action says; DryRun only reports it; Off does neither'),
    action: z
      .enum(['Refuse', 'Avoid'])
      .default('Refuse')
      .describe(
        'Refuse refuses preemptions between the two owners; Avoid adds the owner of the last victim to the avoid list of the node, which the node controller does with nodes.avoidance Enforce',
      ),
    rounds: z
      .number()
      .int()
      .min(2)
      .max(MOST_ROUNDS)
      .default(3)
      .describe('How many times within windowSeconds two owners may displace the pods of each other'),
    windowSeconds: z
      .number()
      .min(60)
      .max(LONGEST_WINDOW_MS / 1000)
      .default(3_600)
      .describe('The time in which these rounds are counted'),
    leaseName: z
      .string()
      .min(1)
      .default('plimsoll-preemption-loops')
      .describe('Name of the Lease by which the replicas elect the one that records loops in NodePressures'),
    leaseNamespace: z.string().min(1).default('plimsoll-system').describe('Namespace of that Lease; it must exist'),
  })
  .prefault({});

export type LoopsConfiguration = z.output<typeof loopsSchema>;
