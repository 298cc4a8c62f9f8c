import { Command, InvalidArgumentError, Option } from 'commander';
import { shareIn } from '#shared/domain/pressure/parse-percentage.ts';
import { ACTING_SIGNALS } from '#shared/domain/pressure/signal.ts';
import { addClusterOptions } from './cluster/cluster-options.ts';
import { addListOptions, outputOption } from './output/output-option.ts';
import { type ProcessIo, rootName } from './process-io.ts';
import type { PreemptCommandOptions } from './simulate/run-preempt.ts';
import type { PressureOptions } from './simulate/run-pressure.ts';
import type { QueueOptions } from './simulate/run-queue.ts';
import type { SpareOptions } from './simulate/run-spare.ts';
import type { ReschedulingOptions } from './simulate/run-rescheduling.ts';

function preemptHelp(program: string): string {
  return `
Answers as kube-scheduler would with Plimsoll's extender, by the same code: on
which node the pod would be placed, which pods would be preempted for it, and
why not on the other nodes. Nothing is changed.

Exit codes: 0, the pod would be placed; 1, it would not; 2, the command or its
input cannot be used.

Examples:
  # Where would this pending pod be placed?
  ${program} simulate preempt --pod team-a/web

  # On a saved cluster, for a pod that does not exist yet
  ${program} snapshot -o cluster.json
  ${program} simulate preempt -f cluster.json --pod-file pod.yaml
`;
}

function pressureHelp(program: string): string {
  return `
Answers as the agent of the node would decide, by the same code: which
thresholds of its policy are met, which pods would be evicted and in which
order, and which pods never would. Nothing is changed.

Usage of pods comes from the agent's last report, which has at most ten pods,
and from --usage, which takes precedence: a PodMetricsList, or lines of
NAMESPACE/POD AMOUNT (bytes of memory; for pid.available processes).

Exit codes: 0, a pod would be evicted, or in mode DryRun reported; 1, none; 2,
the command or its input cannot be used.

Examples:
  # Which pods would be evicted if 200Mi of memory were left?
  ${program} simulate pressure --node node-1 --available 200Mi

  # On a saved cluster, with the figures of metrics-server
  kubectl get --raw /apis/metrics.k8s.io/v1beta1/pods > usage.json
  ${program} simulate pressure -f cluster.json --usage usage.json \\
    --node node-1 --available 200Mi
`;
}

function queueHelp(program: string): string {
  return `
Answers as the leader of the queues would decide, by the same code: what each
queue deserves and uses, which waiting pods would be let in, and for every
other pod why it waits, and which pods would make room for it or why none
would where the queue root says spec.reclaim.mode: Enforce. Nothing is changed. Only pods of namespaces
with the label plimsoll.dev/queues=managed or plimsoll.dev/managed=true wait in
queues; pods that were on nodes before that make no room.

Exit codes: 0, no pod keeps waiting; 1, at least one does; 2, the command or
its input cannot be used.

Examples:
  # What do the queues of the cluster decide now?
  ${program} simulate queue

  # What would they decide with other queues?
  ${program} snapshot -o cluster.json
  ${program} simulate queue -f cluster.json -f queues.yaml
`;
}

function reschedulingHelp(program: string): string {
  return `
Answers as the rescheduler would plan its first pass, by the same code: which
pods it would move, from where to where kube-scheduler would place them, what
that gains, and why other pods stay, with the DisruptionLimits and default
limits that hold them. Nothing is changed.

Exit codes: 0, a pod would be moved; 1, none; 2, the command or its input cannot
be used.

Examples:
  # Would moves make this cluster better?
  ${program} simulate rescheduling

  # On a saved cluster, with a policy that is not applied yet
  ${program} snapshot -o cluster.json
  ${program} simulate rescheduling -f cluster.json -f policy.yaml
`;
}

/** `plimsoll simulate`: decisions on a snapshot or the live cluster, without carrying them out. */
export function simulateCommand(io: ProcessIo): Command {
  return new Command('simulate')
    .summary('simulate decisions without carrying them out')
    .description('Simulate decisions in a cluster without carrying them out.')
    .addCommand(preemptCommand(io))
    .addCommand(pressureCommand(io))
    .addCommand(queueCommand(io))
    .addCommand(reschedulingCommand(io))
    .addCommand(spareCommand(io));
}

const SPARE_HELP = `
Answers by what agents have reported: SIMULATED is the memory that could be
lent with these settings and those of each node's policy, EXCEEDED the share of
all half hours that are remembered in which usage was higher than what is then
expected, so that spare pods would have had to make way. Nothing is changed.
`;

function spareCommand(io: ProcessIo): Command {
  const command = new Command('spare')
    .summary('show how much memory nodes could lend with other settings')
    .description('Show how much memory nodes could lend with other settings, and how often it would be needed back.')
    .option('--percentile <number>', 'as spec.spare.percentile, from 50 to 100', percentileOf)
    .option('--margin <share>', 'as spec.spare.margin, such as 5%', shareOf)
    .option('--max <share>', 'as spec.spare.max, such as 50%', shareOf);
  return addClusterOptions(addListOptions(command))
    .addHelpText('after', SPARE_HELP)
    .action(async (options: SpareOptions) => {
      const { runSpare } = await import('./simulate/run-spare.ts');
      await runSpare(options, io);
    });
}

function percentileOf(text: string): number {
  const percentile = Number(text);
  if (Number.isInteger(percentile) && percentile >= 50 && percentile <= 100) return percentile;
  throw new InvalidArgumentError('expected a whole number from 50 to 100');
}

function shareOf(text: string): number {
  const share = shareIn(text);
  if (share !== undefined) return share;
  throw new InvalidArgumentError('expected a percentage from 0% to 100%');
}

function preemptCommand(io: ProcessIo): Command {
  const command = new Command('preempt')
    .summary('show where a pod would be placed, and which pods would be preempted for it')
    .description('Show where a pod would be placed, and which pods would be preempted for it.')
    .option('--pod <name>', 'a pending pod: NAMESPACE/NAME, NAME or pod/NAME')
    .option('--pod-file <file>', 'manifest of a pod that does not exist yet, - for standard input')
    .option('-n, --namespace <namespace>', 'namespace of a pod that names none')
    .option('--no-extender', "answer as kube-scheduler without Plimsoll's extender")
    .addOption(budgetsOption())
    .addOption(outputOption());
  return addClusterOptions(command)
    .addHelpText('after', () => preemptHelp(rootName(command)))
    .action(async (options: PreemptCommandOptions) => {
      const mistake = findMistake(options);
      if (mistake !== undefined) command.error(`error: ${mistake}`);
      const { runPreempt } = await import('./simulate/run-preempt.ts');
      await runPreempt(options, io);
    });
}

function reschedulingCommand(io: ProcessIo): Command {
  const command = new Command('rescheduling')
    .summary('show which pods would be moved to better places, and why the others stay')
    .description('Show which pods would be moved to better places, and why the others stay.')
    .option('--policy <name>', 'the ReschedulingPolicy, where there are several')
    .addOption(outputOption());
  return addClusterOptions(command)
    .addHelpText('after', () => reschedulingHelp(rootName(command)))
    .action(async (options: ReschedulingOptions) => {
      const { runRescheduling } = await import('./simulate/run-rescheduling.ts');
      await runRescheduling(options, io);
    });
}

function budgetsOption(): Option {
  return new Option('--budgets <mode>', "the extender's setting for disruption budgets")
    .choices(['BestEffort', 'Hard'])
    .default('BestEffort');
}

function reclaimByOption(): Option {
  return new Option('--reclaim-by <floor>', 'instead of spec.reclaim.by of the queue root').choices([
    'Guarantees',
    'Shares',
  ]);
}

function findMistake({ pod, podFile, filename }: PreemptCommandOptions): string | undefined {
  if (pod === undefined && podFile === undefined) return "one of '--pod' and '--pod-file' is needed";
  if (pod !== undefined && podFile !== undefined) return "'--pod' and '--pod-file' exclude each other";
  const isReadTwice = podFile === '-' && filename?.includes('-') === true;
  return isReadTwice ? READ_TWICE : undefined;
}

function pressureCommand(io: ProcessIo): Command {
  const command = new Command('pressure')
    .summary('show which pods of a node would be evicted when it is short of a resource')
    .description('Show which pods of a node would be evicted, and in which order, when it is short of a resource.')
    .requiredOption('--node <name>', 'the node: NAME or node/NAME')
    .requiredOption('--available <amount>', 'how much is left, such as 200Mi')
    .addOption(
      new Option('--signal <signal>', 'the resource that is short').choices(ACTING_SIGNALS).default('memory.available'),
    )
    .option('--usage <file>', 'what pods use, - for standard input')
    .addOption(outputOption());
  return addClusterOptions(command)
    .addHelpText('after', () => pressureHelp(rootName(command)))
    .action(async (options: PressureOptions) => {
      if (options.usage === '-' && options.filename?.includes('-') === true) command.error(`error: ${READ_TWICE}`);
      const { runPressure } = await import('./simulate/run-pressure.ts');
      await runPressure(options, io);
    });
}

function queueCommand(io: ProcessIo): Command {
  const command = new Command('queue')
    .summary('show what queues deserve, who is let in, and who makes room')
    .description('Show what queues deserve, which pods are let in, and which pods make room for others.')
    .addOption(reclaimByOption())
    .addOption(outputOption());
  return addClusterOptions(command)
    .addHelpText('after', () => queueHelp(rootName(command)))
    .action(async (options: QueueOptions) => {
      const { runQueue } = await import('./simulate/run-queue.ts');
      await runQueue(options, io);
    });
}

const READ_TWICE = 'standard input can be read once only';
