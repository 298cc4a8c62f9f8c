import { type Command, InvalidArgumentError } from 'commander';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';

/** Where a command reads the cluster from. */
export interface ClusterOptions {
  readonly filename?: readonly string[] | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** User and groups to act as. */
  readonly as?: string | undefined;
  readonly asGroup?: readonly string[] | undefined;
  /** Milliseconds for one request to the API server. */
  readonly requestTimeout?: number | undefined;
}

/** Heading of these flags in a help text. */
const GROUP = 'Cluster options:';
const FILE_HELP = 'read a snapshot or manifests, - for standard input, not the cluster; repeatable';

/** Adds the flags that say where the cluster is read from: snapshot files, else a kubeconfig as kubectl finds it. */
export function addClusterOptions(command: Command): Command {
  return addKubeconfigOptions(command.option('-f, --filename <file>', FILE_HELP, append));
}

/** Adds the flags of a command that needs a cluster. */
export function addKubeconfigOptions(command: Command): Command {
  return addConnectionOptions(
    command
      .optionsGroup(GROUP)
      .option('--as <user>', 'user to act as (impersonation)')
      .option('--as-group <group>', 'group to act as, with --as; repeatable', append),
  );
}

/** The same without those that act as another user. */
export function addConnectionOptions(command: Command): Command {
  return command
    .optionsGroup(GROUP)
    .option('--kubeconfig <file>', 'kubeconfig of the cluster; default: as for kubectl')
    .option('--context <name>', 'context of the kubeconfig; default: the current one')
    .option('--request-timeout <time>', 'limit for one request, such as 10s; 0 for none', parseTimeout);
}

const NO_LIMIT_MS = 2 ** 31 - 1;

/** As kubectl reads it: a number without a unit is seconds. */
function parseTimeout(text: string): number {
  const parsed = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  const milliseconds = parsed.ok ? durationSeconds(parsed.nanoseconds) * 1_000 : -1;
  if (milliseconds < 0) throw new InvalidArgumentError('Expected a time such as 10s or 2m, or 0.');
  return milliseconds === 0 ? NO_LIMIT_MS : Math.min(milliseconds, NO_LIMIT_MS);
}

/** One value per flag, as with kubectl: a list would swallow the arguments that follow. */
function append(value: string, values: readonly string[] = []): readonly string[] {
  return [...values, value];
}
