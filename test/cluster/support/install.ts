import { fileURLToPath } from 'node:url';
import { kubectl } from './control-plane/kubectl.ts';

const BASE = fileURLToPath(new URL('../../../deploy/base/', import.meta.url));

/** Applies deploy/base as an administrator does, with unknown and doubled fields refused. Rejects with kubectl's words. */
export async function installPlimsoll(kubeconfig: string): Promise<void> {
  const { status, stderr } = await kubectl(kubeconfig, ['apply', '--server-side', '--validate=strict', '-k', BASE]);
  if (status !== 0) throw new Error(`cannot install Plimsoll: ${stderr}`);
}
