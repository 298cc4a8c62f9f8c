import { fileURLToPath } from 'node:url';
import { kubectl } from './kubectl.ts';

const BASE = fileURLToPath(new URL('../../deploy/base/', import.meta.url));

/** Applies deploy/base as an administrator does, with unknown and doubled fields refused. Throws kubectl's words. */
export function installPlimsoll(kubeconfig: string): void {
  const { status, stderr } = kubectl(kubeconfig, ['apply', '--server-side', '--validate=strict', '-k', BASE]);
  if (status !== 0) throw new Error(`cannot install Plimsoll: ${stderr}`);
}
