import { type Command, InvalidArgumentError, Option } from 'commander';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';

/** Where a command reads the cluster from. */
export interface ClusterOptions {
  readonly filename?: readonly string[] | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** User and groups to act as. */
  readonly as?: string | undefined;
  readonly asGroup?: readonly string[] | undefined;
  readonly asUid?: string | undefined;
  readonly asUserExtra?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Names in the kubeconfig, instead of those of the context. */
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
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
      .option('--as-group <group>', 'group to act as, with --as; repeatable', append)
      .addOption(unlisted('--as-uid <uid>', 'UID to act as, with --as'))
      .addOption(
        unlisted('--as-user-extra <key=value>', 'further attribute to act with, with --as; repeatable').argParser(
          appendExtra,
        ),
      ),
  );
}

/** A flag of kubectl's that needs no place in each help text; `kubectl options` explains it. */
function unlisted(flags: string, description: string): Option {
  return new Option(flags, description).hideHelp();
}

/** The same without those that act as another user. */
export function addConnectionOptions(command: Command): Command {
  return command
    .optionsGroup(GROUP)
    .option('--kubeconfig <file>', 'kubeconfig of the cluster; default: as for kubectl')
    .option('--context <name>', 'context of the kubeconfig; default: the current one')
    .addOption(unlisted('--cluster <name>', "cluster of the kubeconfig; default: the context's"))
    .addOption(unlisted('--user <name>', "user of the kubeconfig; default: the context's"))
    .addOption(unlisted('-s, --server <url>', "address of the API server, instead of the cluster's"))
    .addOption(unlisted('--token <token>', "bearer token, instead of the user's"))
    .addOption(unlisted('--insecure-skip-tls-verify', "do not verify the API server's certificate"))
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

/** `KEY=VALUE` of a user to act as; a key may have several values. */
function appendExtra(
  text: string,
  extra: ReadonlyMap<string, readonly string[]> = new Map(),
): ReadonlyMap<string, readonly string[]> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('Expected KEY=VALUE.');
  const [key, value] = [text.slice(0, at), text.slice(at + 1)];
  return new Map([...extra, [key, [...(extra.get(key) ?? []), value]]]);
}
