import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory of this run that only its user can read; nothing of it remains. */
export interface Workspace {
  readonly caFile: string;
  readonly kubeconfigFile: string;
  tokenFile(component: string): string;
  remove(): Promise<void>;
}

export interface WorkspaceFiles {
  readonly kubeconfig: string;
  readonly caPem: string;
  /** By name of the component that speaks with it. */
  readonly tokens: Readonly<Record<string, string>>;
}

/** Writes what children and kubectl need to reach the API server. */
export async function createWorkspace(files: WorkspaceFiles): Promise<Workspace> {
  // mkdtemp makes the directory with mode 0700.
  const directory = await mkdtemp(join(tmpdir(), 'plimsoll-sandbox-'));
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
