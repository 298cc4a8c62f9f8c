import type { Command } from 'commander';

/** Where a command reads the cluster from. */
export interface ClusterOptions {
  readonly filename?: readonly string[] | undefined;
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

const FILE_HELP = 'read a snapshot or manifests, - for standard input, not the cluster; repeatable';

/** Adds the flags that say where the cluster is read from: snapshot files, else a kubeconfig as kubectl finds it. */
export function addClusterOptions(command: Command): Command {
  return addKubeconfigOptions(command.option('-f, --filename <file>', FILE_HELP, addFile));
}

/** Adds the flags of a command that only a cluster can answer. */
export function addKubeconfigOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig of the cluster; default as for kubectl')
    .option('--context <name>', 'context of the kubeconfig; default its current one');
}

/** One file per flag, as with kubectl: a list would swallow the arguments that follow. */
function addFile(file: string, files: readonly string[] = []): readonly string[] {
  return [...files, file];
}
