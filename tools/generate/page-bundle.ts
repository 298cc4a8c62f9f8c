import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Artifact } from './artifact.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const LICENCES = `/*! lit-html: Copyright 2017 Google LLC, BSD-3-Clause; @tanstack/virtual-core: Copyright 2021 Tanner Linsley, MIT;
uPlot: Copyright 2022 Leon Sorokin, MIT. Generated from dashboard/page */`;

/** The page of the dashboard with its libraries, as one module and one style sheet that its own server serves. */
export async function pageBundle(): Promise<readonly Artifact[]> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['dashboard/page/page.ts', 'dashboard/page/page.css'],
    outdir: 'dashboard/public',
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'eof',
    banner: { js: LICENCES },
    logLevel: 'silent',
  });
  return outputFiles.map(({ path, text }) => ({ path: path.slice(ROOT.length), text }));
}
