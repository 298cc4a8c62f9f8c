import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const require = createRequire(import.meta.url);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EXECUTABLE_MODE = 0o755;
/** Where Node.js looks for an injected program (`node:sea`). */
const SEA_RESOURCE = 'NODE_SEA_BLOB';
const SEA_SENTINEL = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * Writes the command line with all that it imports as one CommonJS file, which may have any name on the PATH; resolves
 * with its size in bytes. Rejects if something could not be bundled whole.
 */
export async function bundleCli(file: string): Promise<number> {
  const { warnings } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['cli/main.ts'],
    outfile: file,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    // Names stay for stack traces.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'eof',
    inject: [fileURLToPath(new URL('for-node-20.cjs', import.meta.url))],
    plugins: [packageFile, partOfClientLibrary, withoutUndici],
    logLevel: 'silent',
  });
  if (warnings.length > 0) throw new Error(`cannot bundle: ${warnings.map(({ text }) => text).join('; ')}`);
  chmodSync(resolve(ROOT, file), EXECUTABLE_MODE);
  return statSync(resolve(ROOT, file)).size;
}

/** The version of package.json with the checked-out commit: the same commit gives the same file. */
const packageFile: Plugin = {
  name: 'package-file',
  setup: (bundling) => {
    bundling.onLoad({ filter: /[\\/]package\.json$/ }, ({ path }) => {
      if (path !== join(ROOT, 'package.json')) return undefined;
      const { version } = JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string };
      return { loader: 'json', contents: JSON.stringify({ version, ...commitOf(ROOT) }) };
    });
  },
};

/** From the client library only the kubeconfig reader and port forwarding; the rest is 15 MB of models. */
const partOfClientLibrary: Plugin = {
  name: 'part-of-client-library',
  setup: (bundling) => {
    const folder = join(ROOT, 'node_modules/@kubernetes/client-node/dist');
    const contents = ['config', 'portforward'].map((name) => `export * from './${name}.js';`).join('\n');
    bundling.onResolve({ filter: /^@kubernetes\/client-node$/ }, ({ path }) => ({ path, namespace: 'part' }));
    bundling.onLoad({ filter: /.*/, namespace: 'part' }, () => ({ contents, resolveDir: folder }));
    bundling.onResolve({ filter: /^\.\/gen\/index\.js$/ }, ({ path, importer }) =>
      importer.endsWith('portforward.js') ? { path, namespace: 'left-out' } : undefined,
    );
  },
};

/** The library's HTTP client, which we do not use; its parts need a newer Node.js. */
const withoutUndici: Plugin = {
  name: 'without-undici',
  setup: (bundling) => {
    bundling.onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: 'left-out' }));
    bundling.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** Empty if the sources are not a git checkout. */
function commitOf(root: string): { readonly commit?: string; readonly commitDate?: string } {
  try {
    const args = ['-C', root, 'log', '-1', '--format=%H %cI'];
    const printed = execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const [commit = '', commitDate = ''] = printed.trim().split(' ');
    return { commit, commitDate };
  } catch {
    return {};
  }
}

/** Writes the running Node.js with the bundle in it as one executable; returns its size in bytes. */
export function makeExecutable(bundle: string, file: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-executable-'));
  const [settings, blob, target] = [join(folder, 'sea.json'), join(folder, 'blob'), resolve(ROOT, file)];
  try {
    const sea = { main: resolve(ROOT, bundle), output: blob, disableExperimentalSEAWarning: true };
    writeFileSync(settings, JSON.stringify(sea));
    execFileSync(process.execPath, ['--experimental-sea-config', settings], { stdio: 'ignore' });
    copyFileSync(process.execPath, target);
    chmodSync(target, EXECUTABLE_MODE);
    const postject = require.resolve('postject/dist/cli.js');
    const args = [postject, target, SEA_RESOURCE, blob, '--sentinel-fuse', SEA_SENTINEL];
    execFileSync(process.execPath, args, { stdio: 'ignore' });
    return statSync(target).size;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
