import { z } from 'zod';
import { ALL_ADDRESSES } from '#shared/http/addresses.ts';
import { LOG_FORMATS, LOG_LEVELS } from '#shared/runtime/log.ts';

const MILLISECONDS_PER_DAY = 86_400_000;
const duration = (least: number) => z.number().int().min(least).max(MILLISECONDS_PER_DAY);

/** Settings of `node agent/main.ts`, from an `AgentConfiguration` file, flags and the environment. */
export const agentConfiguration = z.strictObject({
  nodeName: z
    .string()
    .min(1)
    .describe('Name of the node this agent runs on; default: the environment variable NODE_NAME'),
  mode: z
    .enum(['Policy', 'DryRun', 'Enforce'])
    .default('Policy')
    .describe('DryRun never evicts, whatever the policies say; Enforce applies to nodes that no policy selects'),
  source: z
    .enum(['kernel', 'summary'])
    .default('kernel')
    .describe('Source of node and pod usage: kernel files, or the kubelet summary'),
  path: z
    .strictObject({
      procfs: z.string().default('/proc').describe('Mount path of the host’s /proc'),
      sysfs: z.string().default('/sys').describe('Mount path of the host’s /sys'),
      cgroupfs: z.string().optional().describe('The host’s cgroup root; default: fs/cgroup below path.sysfs'),
      kubepods: z.string().optional().describe('Cgroup of all pods, relative to the cgroup root; default: detected'),
      nodefs: z
        .string()
        .optional()
        .describe('A path on the node’s file system; without it, the agent does not measure disks'),
      imagefs: z.string().optional().describe('A path on the image file system, if it is a separate one'),
    })
    .prefault({}),
  kubelet: z
    .strictObject({
      url: z.string().optional().describe('Kubelet address, https://NODE_IP:10250; an IPv6 address needs no brackets'),
      tokenFile: z.string().optional().describe('Bearer token file for the kubelet; default: the API server’s token'),
      caFile: z
        .string()
        .optional()
        .describe('CA file for the kubelet’s certificate, reloaded on change; default: the API server’s CA'),
      skipTlsVerify: z
        .boolean()
        .default(false)
        .describe('Do not verify the kubelet’s certificate, for kubelets with a self-signed one'),
    })
    .prefault({}),
  period: z
    .strictObject({
      nearMs: duration(10).default(100).describe('Time between passes near a threshold, in milliseconds'),
      raceMs: duration(1)
        .default(10)
        .describe('Time between passes when a threshold is about to be crossed, in milliseconds'),
      farMs: duration(100).default(1000).describe('Time between passes far from every threshold, in milliseconds'),
      podsMs: duration(100)
        .default(1000)
        .describe('Time between measurements of pod memory near a threshold, in milliseconds'),
      slowMs: duration(1000).default(10_000).describe('Time between measurements of everything else, in milliseconds'),
      statusMs: duration(1000)
        .max(360_000)
        .default(360_000)
        .describe('Longest time between status writes while nothing happens; two minutes at most if figures move'),
    })
    .prefault({}),
  warmUpMs: z
    .number()
    .int()
    .min(0)
    .max(MILLISECONDS_PER_DAY)
    .default(30_000)
    .describe('Time after the start in which the agent evicts no pods, in milliseconds'),
  crossCheck: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Compare the kernel’s figures with those of other sources'),
      tolerancePercent: z
        .number()
        .min(0.1)
        .max(100)
        .default(5)
        .describe('Largest accepted difference between sources, as a percentage of the capacity'),
    })
    .prefault({}),
  health: z
    .strictObject({
      host: z.string().default(ALL_ADDRESSES).describe('Listen address for health checks and metrics'),
      port: z.number().int().min(0).max(65_535).default(8080).describe('Listen port for health checks and metrics'),
    })
    .prefault({}),
  kubeconfig: z.string().optional().describe('Kubeconfig file, for running outside a cluster'),
  logLevel: z.enum(LOG_LEVELS).default('info').describe('Lowest level that is logged'),
  logFormat: z.enum(LOG_FORMATS).default('json').describe('json, or text for humans'),
});

export type AgentConfiguration = z.output<typeof agentConfiguration>;
