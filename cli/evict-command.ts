import { Command, InvalidArgumentError } from 'commander';
import { addKubeconfigOptions } from './cluster/cluster-options.ts';
import type { EvictOptions } from './evict/run-evict.ts';
import { dryRunOption, type ProcessIo, rootName } from './process-io.ts';

function help(program: string): string {
  return `
Removes a pod as kubectl drain does, through the Eviction API: the API server
asks its PodDisruptionBudget first, and webhooks such as Plimsoll's. kubectl
delete pod asks no budget; it is not turned into an eviction. Only the pod that
has the name now is evicted, not a later one of the same name.

Examples:
  ${program} evict team-a/web-0

  # Do budgets allow it?
  ${program} evict web-0 -n team-a --dry-run=server

Exit codes: 0, the API server evicts the pod; 1, it does not; 2, the command or
its input cannot be used. It needs the rights to get pods and to create
pods/eviction.
`;
}

/** `plimsoll evict`: removes a pod and respects its budget. */
export function evictCommand(io: ProcessIo): Command {
  const command = new Command('evict');
  command
    .summary('remove a pod if its PodDisruptionBudget allows it')
    .description('Remove a pod through the Eviction API, if its PodDisruptionBudget allows it.')
    .argument('<pod>', 'NAMESPACE/NAME, NAME or pod/NAME')
    .option('-n, --namespace <namespace>', 'namespace of the pod')
    .option('--grace-period <seconds>', 'time for the pod to terminate, 1 or more; default: its own', parseGracePeriod)
    .addOption(dryRunOption());
  return addKubeconfigOptions(command)
    .addHelpText('after', () => help(rootName(command)))
    .action(async (pod: string, options: EvictOptions) => {
      const { runEvict } = await import('./evict/run-evict.ts');
      await runEvict(pod, options, io);
    });
}

/** Grace 0 would skip the pod's graceful termination. */
function parseGracePeriod(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds >= 1) return seconds;
  throw new InvalidArgumentError('Expected a whole number of seconds of at least 1.');
}
