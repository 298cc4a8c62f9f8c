/** Who may import whom (ARCHITECTURE.md), on the resolved graph: re-exports, type imports and cycles included. */

function only(name, from, allowed) {
  return {
    name,
    severity: 'error',
    from: { path: from, pathNot: '/main\\.ts$' },
    to: { path: `^(shared|agent|webhook|scheduler|dashboard|cli|sandbox|test|bench|tools)/`, pathNot: allowed },
  };
}

/** Folders of a part that build on one another: each may import those before it (ARCHITECTURE.md). */
function inOrder(part, folders) {
  return folders.slice(0, -1).map((folder, index) => ({
    name: `order-in-${part}`,
    severity: 'error',
    from: { path: `^${part}/${folder}/` },
    to: { path: `^${part}/(${folders.slice(index + 1).join('|')})/` },
  }));
}

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'main-is-never-imported',
      severity: 'error',
      from: { pathNot: '^(test|bench|tools)/' },
      to: { path: '/main\\.ts$' },
    },
    { name: 'nothing-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'core-is-pure',
      severity: 'error',
      from: { path: '^shared/domain/' },
      to: { pathNot: '^shared/domain/' },
    },
    ...inOrder('shared/domain/placement', ['filters', 'trial', 'victims', 'set-aside', 'plan']),
    ...inOrder('shared/domain/preemption', ['proposal', 'loop', 'explain']),
    ...inOrder('shared/domain', ['placement', 'preemption']),
    only('api', '^shared/api/', '^shared/(api|domain|kube)/'),
    only('decide', '^shared/decide/', '^shared/(decide|api|domain|kube|runtime)/'),
    only('pods', '^shared/decide/pods/', '^shared/(decide/pods|api|domain|kube)/'),
    only('queues', '^shared/decide/queues/', '^shared/(decide/queues|api|domain|kube|runtime)/'),
    only('eviction', '^shared/decide/eviction/', '^shared/(decide/eviction|api|domain|kube)/'),
    only('simulation', '^shared/decide/simulation/', '^shared/(decide/(eviction|simulation)|api|domain|kube)/'),
    only('kube', '^shared/kube/', '^shared/(kube|domain|runtime)/'),
    only('http', '^shared/http/', '^shared/(http|runtime)/'),
    only('runtime', '^shared/runtime/', '^shared/runtime/'),
    only('agent', '^agent/', '^(agent|shared)/'),
    only('webhook', '^webhook/', '^(webhook|shared)/'),
    only('scheduler', '^scheduler/', '^(scheduler|dashboard|shared)/'),
    only('dashboard', '^dashboard/', '^(dashboard|shared)/'),
    only('cli', '^cli/', '^(cli|shared)/'),
    only('sandbox', '^sandbox/', '^(sandbox|shared)/'),
    {
      name: 'agent-is-light',
      comment: 'express costs 15 MiB on every node',
      severity: 'error',
      from: { path: '^agent/' },
      to: { path: 'node_modules/express/', reachable: true },
    },
    {
      name: 'product-needs-no-development-packages',
      comment: 'the image has the production packages alone',
      severity: 'error',
      from: { path: '^(shared|agent|webhook|scheduler|dashboard|cli)/', pathNot: '^dashboard/page/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'page-runs-in-a-browser',
      comment: 'it is bundled and small: of the rest it takes types and the pure core',
      severity: 'error',
      from: { path: '^dashboard/page/' },
      to: {
        path: '^(shared|dashboard)/',
        pathNot: '^(shared/domain|dashboard/(page|views))/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'page-is-bundled',
      severity: 'error',
      from: { pathNot: '^dashboard/page/' },
      to: { path: '^dashboard/page/page.ts' },
    },
    {
      name: 'production-never-imports-tests',
      severity: 'error',
      from: { pathNot: '^(test|bench|tools)/' },
      to: { path: '^(test|bench|tools)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
