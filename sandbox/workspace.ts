import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'plimsoll-sandbox-';

/** A directory of this run that only its user can read; it is removed at the end. */
export interface Workspace {
  readonly caFile: string;
  readonly kubeconfigFile: string;
  tokenFile(component: string): string;
  remove(): Promise<void>;
}

export interface WorkspaceFiles {
  readonly kubeconfig: string;
  readonly caPem: string;
  /** By name of the component that uses it. */
  readonly tokens: Readonly<Record<string, string>>;
}

/** Writes the files that child processes and kubectl need to reach the API server. */
export async function createWorkspace(files: WorkspaceFiles): Promise<Workspace> {
  const directory = await createDirectory();
  const caFile = join(directory, 'ca.crt');
  const kubeconfigFile = join(directory, 'kubeconfig');
  const tokenFile = (component: string): string => join(directory, `${component}.token`);
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    await writeFile(caFile, files.caPem);
    await writeFile(kubeconfigFile, files.kubeconfig, { mode: 0o600 });
    for (const [name, token] of Object.entries(files.tokens)) await writeFile(tokenFile(name), token, { mode: 0o600 });
  } catch (error) {
    await remove();
    throw error;
  }
  return { tokenFile, caFile, kubeconfigFile, remove };
}

async function createDirectory(): Promise<string> {
  try {
    await removeAbandoned();
    // mkdtemp makes the directory with mode 0700.
    return await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  } catch (error) {
    throw new Error(`cannot make a temporary directory in "${tmpdir()}"`, { cause: error });
  }
}

/** Remains of a killed sandbox: a directory that names a process which no longer exists. */
async function removeAbandoned(): Promise<void> {
  const names = await readdir(tmpdir());
  const abandoned = names.filter((name) => {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    return pid !== undefined && !isAlive(Number(pid));
  });
  // Another user's directory cannot be removed, and need not be.
  await Promise.allSettled(abandoned.map((name) => rm(join(tmpdir(), name), { recursive: true })));
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
