/** `npm run cluster:build`: builds every program that the suites of test:cluster start, so that none waits for it. */
import { findGitOps } from './installed/support/gitops-comparison.ts';
import { findBuiltPrograms } from './node/start/node-programs.ts';
import { findPolicyEvaluator } from './policies/policy-evaluator.ts';
import { findBinaries } from './support/control-plane/binaries.ts';
import { findHelm } from './support/control-plane/find-helm.ts';
import { findUpstreamSuite } from './support/control-plane/upstream-suite.ts';

// Those first that most tests need.
for (const find of [findBinaries, findHelm, findPolicyEvaluator, findBuiltPrograms, findUpstreamSuite, findGitOps]) {
  const found = find(process.env);
  if (found.kind === 'found') continue;
  process.stderr.write(`${found.because}\n`);
  process.exitCode = 1;
}
