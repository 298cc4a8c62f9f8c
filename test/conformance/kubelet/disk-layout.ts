import type { DiskLayout } from '#shared/domain/pressure/signal.ts';

/** The layout from the two facts that the kubelet asks its runtime for (`buildSignalToRankFunc`). */
export function diskLayout(hasImageFilesystem: boolean, areLayersOnNodeFilesystem: boolean): DiskLayout {
  if (!hasImageFilesystem) return 'single';
  return areLayersOnNodeFilesystem ? 'imagesApart' : 'imagesAndLayersApart';
}
