import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PLUGIN = 'kubectl-plimsoll';
/** Time of entries in the archive: the same sources give the same bytes. */
const REPRODUCIBLE = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=a+rX,u+w,go-w'];

export interface KrewFiles {
  /** What krew downloads. */
  readonly archive: string;
  /** What krew reads: where the archive is, and its checksum. */
  readonly manifest: string;
}

/**
 * Packs the bundle as a plugin of kubectl for https://krew.sigs.k8s.io: an archive and its manifest, into `folder`.
 * `url` is where the archive will be published, without its name. Returns where they are.
 */
export function packForKrew(bundle: string, folder: string, url: string): KrewFiles {
  const version = packageVersion();
  const archive = resolve(folder, `${PLUGIN}-${version}.tar.gz`);
  const staging = mkdtempSync(join(tmpdir(), 'plimsoll-krew-'));
  try {
    mkdirSync(folder, { recursive: true });
    copyFileSync(bundle, join(staging, PLUGIN));
    copyFileSync(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'));
    const tar = execFileSync('tar', ['-C', staging, ...REPRODUCIBLE, '-cf', '-', 'LICENSE', PLUGIN], MANY_BYTES);
    writeFileSync(archive, execFileSync('gzip', ['-n9'], { input: tar, ...MANY_BYTES }));
  } finally {
    rmSync(staging, { recursive: true });
  }
  const manifest = resolve(folder, 'plimsoll.yaml');
  const sha256 = createHash('sha256').update(readFileSync(archive)).digest('hex');
  const uri = `${url.replace(/\/$/, '')}/${PLUGIN}-${version}.tar.gz`;
  writeFileSync(manifest, stringify(krewManifest(version, { uri, sha256 }), { lineWidth: 0, blockQuote: 'literal' }));
  return { archive, manifest };
}

const MANY_BYTES = { maxBuffer: 64 * 1_048_576 };

function packageVersion(): string {
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }).version;
}

/** `krew.googlecontainertools.github.com/v1alpha2`; the bundle starts by its first line, which Windows does not read. */
function krewManifest(version: string, source: { readonly uri: string; readonly sha256: string }): object {
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'plimsoll' },
    spec: {
      version: `v${version}`,
      shortDescription: 'Ask what Plimsoll decides about priority and pressure',
      description:
        'Says what the admission webhook would answer to your manifests, which pods would be\n' +
        'preempted or evicted and why, why a pod is pending, and whether the installation of\n' +
        'Plimsoll works. kubectl plimsoll --help lists the commands.\n',
      caveats: 'It needs Node.js 20 or newer on the PATH.\n',
      platforms: [
        {
          selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
          ...source,
          bin: PLUGIN,
          files: [
            { from: PLUGIN, to: '.' },
            { from: 'LICENSE', to: '.' },
          ],
        },
      ],
    },
  };
}
