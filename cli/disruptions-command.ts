import { Command, InvalidArgumentError, Option } from 'commander';
import { type Cause, CAUSES } from '#shared/domain/disruption/disruption.ts';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';
import { addClusterOptions } from './cluster/cluster-options.ts';
import type { DisruptionsOptions } from './disruptions/run-disruptions.ts';
import { addListOptions, addWatchOption } from './output/output-option.ts';
import { type ProcessIo, rootName } from './process-io.ts';

function help(program: string): string {
  return `
Shows which pods were removed, when, by what and why, as plimsoll-controller
recorded it in Disruptions; the newest first. Disruptions are kept for seven
days unless the SchedulerConfiguration says otherwise. -w goes on with each
removal as it happens.

Examples:
  # What was removed from this namespace?
  ${program} disruptions -n team-a

  # What made room for pods of higher priority, in all namespaces?
  ${program} disruptions -A --cause Preemption -o wide

  # The whole story of one of them
  ${program} explain pod team-a/web-0
`;
}

/** `plimsoll disruptions`: which pods were removed, when, by what and why. */
export function disruptionsCommand(io: ProcessIo): Command {
  const command = new Command('disruptions');
  command
    .alias('evictions')
    .summary('list removed pods: when, by what and why')
    .description('List pods that were removed: when, by what and why.')
    .option('-n, --namespace <namespace>', 'removed pods of this namespace')
    .option('-A, --all-namespaces', 'removed pods of all namespaces', false)
    .addOption(causeOption())
    .option('--since <time>', 'only those of the last hours or minutes, such as 24h or 30m', parseSince);
  return addClusterOptions(addWatchOption(addListOptions(command)))
    .addHelpText('after', () => help(rootName(command)))
    .action(async (options: DisruptionsOptions) => {
      const { runDisruptions } = await import('./disruptions/run-disruptions.ts');
      await runDisruptions(options, io);
    });
}

/** The choices are for help and completion; any case is understood. */
function causeOption(): Option {
  const option = new Option('--cause <cause>', 'only this cause; repeatable').choices(CAUSES);
  return option.argParser<readonly Cause[] | undefined>((text, causes) => [...(causes ?? []), parseCause(text)]);
}

/** Milliseconds. */
function parseSince(text: string): number {
  const parsed = parseDuration(text);
  const milliseconds = parsed.ok ? durationSeconds(parsed.nanoseconds) * 1_000 : 0;
  if (milliseconds <= 0) throw new InvalidArgumentError('Expected a time such as 24h or 30m.');
  return milliseconds;
}

function parseCause(text: string): Cause {
  const found = CAUSES.find((cause) => cause.toLowerCase() === text.toLowerCase());
  if (found === undefined) throw new InvalidArgumentError(`Allowed choices are ${CAUSES.join(', ')}.`);
  return found;
}
