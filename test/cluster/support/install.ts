import { fileURLToPath } from 'node:url';
import { kubectl } from './control-plane/kubectl.ts';

const DEPLOY = new URL('../../../deploy/', import.meta.url);

/**
 * Applies deploy/base, or an overlay, as an administrator does, with unknown and doubled fields refused. Rejects with
 * kubectl's words.
 */
export async function installPlimsoll(kubeconfig: string, folder = 'base'): Promise<void> {
  const path = fileURLToPath(new URL(folder, DEPLOY));
  const { status, stderr } = await kubectl(kubeconfig, ['apply', '--server-side', '--validate=strict', '-k', path]);
  if (status !== 0) throw new Error(`cannot install Plimsoll: ${stderr}`);
}
