import { describe } from 'vitest';
import { admissionContract } from './admission.ts';
import { admissionPolicyContract } from './admission-policies.ts';
import { clientLibraryContract } from './client-library.ts';
import { customResourceContract } from './custom-resources.ts';
import { discoveryContract } from './discovery.ts';
import type { ContractTarget } from './harness.ts';
import { listWatchContract } from './list-watch.ts';
import { namespaceContract } from './namespaces.ts';
import { objectContract } from './objects.ts';
import { patchContract } from './patches.ts';
import { podFormatsContract } from './pod-formats.ts';
import { podWebhookContract } from './pod-webhooks.ts';
import { portContract } from './ports.ts';
import { subresourceContract } from './subresources.ts';
import { tableContract } from './tables.ts';
import { webhookContract } from './webhooks.ts';

/**
 * What Plimsoll expects of a Kubernetes API server, and of its own ports on top of one. The same suite runs on the
 * sandbox and on a real kube-apiserver, so that the double cannot drift.
 */
export function apiServerContract(target: () => ContractTarget): void {
  describe('discovery', () => discoveryContract(target));
  describe('objects', () => objectContract(target));
  describe('list and watch', () => listWatchContract(target));
  describe('formats', () => podFormatsContract(target));
  describe('patches', () => patchContract(target));
  describe('subresources', () => subresourceContract(target));
  describe('tables', () => tableContract(target));
  describe('custom resources', () => customResourceContract(target));
  describe('admission plugins', () => admissionContract(target));
  describe('admission policies', () => admissionPolicyContract(target));
  describe('webhooks', () => webhookContract(target));
  describe('webhooks about pods', () => podWebhookContract(target));
  describe('namespaces', () => namespaceContract(target));
  describe('@kubernetes/client-node', () => clientLibraryContract(target));
  describe('ports of ours', () => portContract(target));
}
