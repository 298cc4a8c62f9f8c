import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { packImage } from './pack-image.ts';

/** Holds go/workload: what pods of tests run, and the pause container of every pod. */
export const WORKLOAD_IMAGE = 'plimsoll.test/workload:1';

/** Packs it into a new folder; returns the archive. */
export function packWorkloadImage(workload: string, folder: string): Promise<string> {
  const root = join(folder, 'root');
  mkdirSync(root, { recursive: true });
  copyFileSync(workload, join(root, 'workload'));
  return packImage({ name: WORKLOAD_IMAGE, root, config: { Entrypoint: ['/workload'], Cmd: ['pause'] } }, folder);
}
