import { Command } from 'commander';
import { addClusterOptions } from './cluster/cluster-options.ts';
import type { ExplainOptions } from './explain/run-explain.ts';
import { outputOption } from './output.ts';
import type { ProcessIo } from './process-io.ts';

/** `plimsoll explain`: how Plimsoll treats a pod or a quota. */
export function explainCommand(io: ProcessIo): Command {
  return new Command('explain')
    .summary('explain the priority and protection of a pod, or a quota')
    .description('Explain how Plimsoll treats a pod or a quota.')
    .addCommand(podCommand(io))
    .addCommand(quotaCommand(io));
}

function podCommand(io: ProcessIo): Command {
  const command = new Command('pod')
    .description('Show priority, policy, place in the eviction order and protection of a pod.')
    .argument('<pod>', 'NAMESPACE/NAME or NAME')
    .option('-n, --namespace <namespace>', 'namespace of the pod')
    .addOption(outputOption());
  return addClusterOptions(command).action(async (pod: string, options: ExplainOptions) => {
    const { runExplainPod } = await import('./explain/run-explain.ts');
    await runExplainPod(pod, options, io);
  });
}

function quotaCommand(io: ProcessIo): Command {
  const command = new Command('quota')
    .description('Show the limits of a PriorityQuota, its usage, and the largest namespaces.')
    .argument('<name>', 'name of the PriorityQuota')
    .addOption(outputOption());
  return addClusterOptions(command).action(async (name: string, options: ExplainOptions) => {
    const { runExplainQuota } = await import('./explain/run-explain.ts');
    await runExplainQuota(name, options, io);
  });
}
