import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { runProgram } from '#test/cluster/support/run-program.ts';

/** A container image whose only layer is a folder. */
export interface ImageRecipe {
  /** Name with tag, as a pod spells it. */
  readonly name: string;
  /** The folder that becomes the root file system, owners and modes included. */
  readonly root: string;
  /** The `config` of the image: Entrypoint, Cmd, Env, User, WorkingDir. */
  readonly config: object;
}

const REPRODUCIBLE = ['--sort=name', '--mtime=@0', '--numeric-owner'];

/** Writes an archive as `docker save` does, so that no registry is needed, into a folder of its own; returns its path. */
export async function packImage({ name, root, config }: ImageRecipe, folder: string): Promise<string> {
  const work = join(folder, 'image');
  mkdirSync(work, { recursive: true });
  runProgram('tar', ['-c', ...REPRODUCIBLE, '-f', join(work, 'layer'), '-C', root, '.']);
  const layer = await sha256(join(work, 'layer'));
  renameSync(join(work, 'layer'), join(work, `${layer}.tar`));
  const description = JSON.stringify({
    architecture: 'amd64',
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config,
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
    history: [{ created_by: 'plimsoll-test' }],
  });
  const id = createHash('sha256').update(description).digest('hex');
  writeFileSync(join(work, `${id}.json`), description);
  const manifest = [{ Config: `${id}.json`, RepoTags: [name], Layers: [`${layer}.tar`] }];
  writeFileSync(join(work, 'manifest.json'), JSON.stringify(manifest));
  const archive = join(folder, 'image.tar');
  runProgram('tar', ['-c', ...REPRODUCIBLE, '-f', archive, '-C', work, '.']);
  return archive;
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
