import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Import prefixes of this house; a folder may import only those in its own line below. */
const FOLDERS = ['webhook', 'agent', 'scheduler', 'dashboard', 'cli', 'sandbox', 'test', 'bench', 'tools'];
const SHARED = ['domain', 'api', 'decide', 'kube', 'http', 'runtime'];

const relative = { group: ['../*', '../**'], message: 'use the import map (#shared/…) across folders, ./ inside one' };

/** Forbids every import prefix except those listed. */
function onlyFrom(...allowed) {
  const all = [...FOLDERS.map((folder) => `#${folder}`), ...SHARED.map((folder) => `#shared/${folder}`)];
  const forbidden = all.filter((prefix) => !allowed.includes(prefix));
  return [
    relative,
    { group: forbidden.map((prefix) => `${prefix}/**`), message: 'see ARCHITECTURE.md: who may import whom' },
  ];
}

function mainModules() {
  return { group: ['#*/main.ts', './main.ts'], message: 'nothing imports a main.ts' };
}

/** The whole import rule of one folder: a later block replaces an earlier one, so each is complete. */
function folder(name, allowed, forbiddenPackages = []) {
  return {
    files: [`${name}/**/*.ts`],
    rules: {
      'no-restricted-imports': ['error', { patterns: [...onlyFrom(...allowed), mainModules(), ...forbiddenPackages] }],
    },
  };
}

const noPackages = { regex: '^(?!\\.|#shared/domain/)', message: 'the core imports nothing but itself' };
/** Names, annotations and types of shared/kube have no effect when they are imported. */
const pureEviction = {
  regex:
    '^(?!\\./|#shared/domain/|#shared/api/|#shared/decide/eviction/|#shared/kube/(api-names|annotations/|events/evict-pod)).',
  message: 'decisions about evictions import the core, the policy and their own folder',
};
const pureSimulation = {
  regex: '^(?!\\./|#shared/domain/|#shared/api/|#shared/decide/eviction/|#shared/kube/(api-names|annotations/)).',
  message: 'a simulation only decides: whoever asks reads the cluster',
};
const noExpress = { group: ['express'], message: 'the agent keeps its surface on node:http' };
const allShared = SHARED.map((name) => `#shared/${name}`);

const coreGlobals = [
  'Date',
  'process',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'console',
  'performance',
  'Buffer',
  'crypto',
];

const DEFAULT_EXPORT = { selector: 'ExportDefaultDeclaration', message: 'no default exports' };

const WAITING = 'test/build/waiting.ts';
/** A blind sleep makes a test slow, or flaky, or both. */
const SLEEPS = [
  {
    selector: 'CallExpression[callee.name="setTimeout"], CallExpression[callee.property.name="setTimeout"]',
    message: `wait for the event or the state: eventually, or letTimePass with the reason (${WAITING})`,
  },
  {
    selector: 'CallExpression[callee.property.name="sleep"]:not([callee.object.name="manual"])',
    message: `only a manual clock, named manual, sleeps in a test: see ${WAITING}`,
  },
  { selector: 'ImportDeclaration[source.value=/^(node:)?timers/]', message: `see ${WAITING}` },
  {
    selector: 'CallExpression[callee.object.name=/^(vi|expect)$/][callee.property.name=/^(poll|waitFor|waitUntil)$/]',
    message: `use eventually: there is one way to wait (${WAITING})`,
  },
  {
    selector: 'CallExpression[callee.name="letTimePass"] > Literal.arguments:first-child',
    message: 'give the time a name, and say why it must pass',
  },
];
/** The seed of all properties is set in one place; one of a property's own is a number in its file. */
const RANDOM_SEEDS = [
  {
    selector:
      'CallExpression[callee.object.name="fc"][callee.property.name=/^(assert|check|sample)$/] Property[key.name="seed"] CallExpression',
    message: 'a seed is a number: a second run of this file must draw the same cases',
  },
  {
    selector: 'CallExpression[callee.object.name="fc"][callee.property.name=/^(reset)?[cC]onfigureGlobal$/]',
    message: 'test/build/property-seed.ts sets the seed of all properties',
  },
  {
    selector:
      'VariableDeclarator[id.name=/seed/i] CallExpression:matches([callee.object.name=/^(Date|crypto|performance)$/], [callee.property.name="random"])',
    message: 'a seed is a number that a second run has again',
  },
];
/** Tests included: a longer one tests several things. */
const MAX_FILE_LENGTH = 300;
/** Closures included: a factory of a hundred lines is a state machine in disguise. */
const MAX_FUNCTION_LENGTH = { max: 60, skipBlankLines: true, skipComments: true };

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', 'test/vectors/', 'dashboard/public/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      complexity: ['error', 10],
      'max-depth': ['error', 3],
      'max-params': ['error', 4],
      'max-lines': ['error', MAX_FILE_LENGTH],
      'max-lines-per-function': ['error', MAX_FUNCTION_LENGTH],
      'no-duplicate-imports': 'error',
      'no-restricted-syntax': ['error', DEFAULT_EXPORT],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  folder('shared/domain', ['#shared/domain'], [noPackages]),
  {
    files: ['shared/domain/**/*.ts', 'shared/decide/eviction/**/*.ts', '**/messages.ts', 'cli/**/*-messages.ts'],
    rules: {
      'no-restricted-globals': ['error', ...coreGlobals],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'the core is deterministic' },
      ],
    },
  },
  folder('shared/api', ['#shared/api', '#shared/domain', '#shared/kube']),
  folder('shared/decide/queues', [
    '#shared/decide',
    '#shared/api',
    '#shared/domain',
    '#shared/kube',
    '#shared/runtime',
  ]),
  folder('shared/decide/eviction', ['#shared/decide', '#shared/api', '#shared/domain', '#shared/kube'], [pureEviction]),
  folder(
    'shared/decide/simulation',
    ['#shared/decide', '#shared/api', '#shared/domain', '#shared/kube'],
    [pureSimulation],
  ),
  folder('shared/kube', ['#shared/kube', '#shared/domain', '#shared/runtime']),
  folder('shared/http', ['#shared/http', '#shared/runtime']),
  folder('shared/runtime', ['#shared/runtime']),
  folder('agent', ['#agent', ...allShared], [noExpress]),
  folder('webhook', ['#webhook', ...allShared]),
  folder('scheduler', ['#scheduler', '#dashboard', ...allShared]),
  folder('dashboard', ['#dashboard', ...allShared]),
  folder('cli', ['#cli', ...allShared]),
  folder('sandbox', ['#sandbox', ...allShared]),
  {
    files: ['**/main.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: [relative, mainModules()] }] },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'tools/**/*.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: [relative] }],
      'max-params': ['error', 5],
      'max-lines-per-function': 'off',
    },
  },
  {
    files: ['test/**/*.ts'],
    ignores: [WAITING, 'test/build/property-seed.ts'],
    rules: { 'no-restricted-syntax': ['error', DEFAULT_EXPORT, ...SLEEPS, ...RANDOM_SEEDS] },
  },
  { files: ['**/vitest.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
  { files: ['.ci/*.mjs'], languageOptions: { globals: { console: 'readonly', process: 'readonly' } } },
);
