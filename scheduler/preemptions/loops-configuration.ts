import { z } from 'zod';

/** `preemptionLoops` of SchedulerConfiguration: what the extender does where two owners preempt each other in turn. */
export const loopsSchema = z
  .strictObject({
    mode: z
      .enum(['Off', 'DryRun', 'Enforce'])
      .default('DryRun')
      .describe('Enforce refuses the preemption that would continue a loop; DryRun only reports it; Off does neither'),
    rounds: z
      .number()
      .int()
      .min(2)
      .max(16)
      .default(3)
      .describe('How many times within windowSeconds two owners may displace the pods of each other'),
    windowSeconds: z.number().min(60).max(86_400).default(3_600).describe('The time in which these rounds are counted'),
  })
  .prefault({});

export type LoopsConfiguration = z.output<typeof loopsSchema>;
