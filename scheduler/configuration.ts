import { z } from 'zod';
import { LOG_FORMATS, LOG_LEVELS } from '#shared/runtime/log.ts';

const port = z.number().int().min(0).max(65_535);
const MIB = 1024 * 1024;

/** `SchedulerConfiguration` of config.plimsoll.dev/v1alpha1. */
export const schedulerSchema = z.strictObject({
  kubeconfig: z
    .string()
    .min(1)
    .optional()
    .describe('Kubeconfig file; without it the mounted service account or PLIMSOLL_SERVER is used'),
  host: z.string().min(1).default('0.0.0.0').describe('Address to answer kube-scheduler on'),
  port: port.default(10_260).describe('Port of the extender; 0 takes a free one'),
  healthHost: z.string().min(1).default('0.0.0.0').describe('Address of health and metrics'),
  healthPort: port.default(8_080).describe('Port of health and metrics (plain); 0 takes a free one'),
  logLevel: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`One of ${LOG_LEVELS.join(', ')}`),
  logFormat: z.enum(LOG_FORMATS).default('json').describe('json or text'),
  drainSeconds: z
    .number()
    .min(0)
    .max(60)
    .default(5)
    .describe('How long to stay reachable after SIGTERM before closing'),
  bodyLimitBytes: z
    .number()
    .int()
    .min(1_024)
    .max(256 * MIB)
    .default(16 * MIB)
    .describe('Largest request of kube-scheduler; a larger one is answered with 413'),
  tls: z
    .strictObject({
      certFile: z.string().min(1).optional().describe('Certificate, PEM; without it the extender speaks plain HTTP'),
      keyFile: z.string().min(1).optional().describe('Private key, PEM'),
      clientCaFile: z.string().min(1).optional().describe('Authority that callers must be certified by, PEM'),
    })
    .prefault({})
    .refine(({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined), {
      message: 'certFile and keyFile are needed together',
    }),
  budgets: z
    .enum(['BestEffort', 'Hard'])
    .default('BestEffort')
    .describe('Hard takes away nodes where a preemption would break a PodDisruptionBudget'),
});

export type SchedulerConfiguration = z.output<typeof schedulerSchema>;
