import type { Manifest } from '#tools/manifests/manifest.ts';

/** What others need is installed first, and what may refuse others last; the rest in between, as kustomize prints it. */
const FIRST = [
  'Namespace',
  'ResourceQuota',
  'CustomResourceDefinition',
  'ServiceAccount',
  'Role',
  'ClusterRole',
  'RoleBinding',
  'ClusterRoleBinding',
  'ConfigMap',
  'Secret',
  'Service',
  'Deployment',
  'PodDisruptionBudget',
];
const LAST = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];

/** The order in which an API server accepts them. */
export function inInstallOrder(objects: readonly Manifest[]): readonly Manifest[] {
  return objects.toSorted((a, b) => rank(a) - rank(b));
}

function rank({ kind }: Manifest): number {
  const first = FIRST.indexOf(kind);
  return first >= 0 ? first : FIRST.length + 1 + LAST.indexOf(kind);
}
