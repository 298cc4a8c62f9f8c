/**
 * How the node's disks are cut: one filesystem for everything; images and writable layers on their own; or images
 * alone on their own, with the writable layers on the node's filesystem.
 */
export type DiskLayout = 'single' | 'imagesAndLayersApart' | 'imagesApart';

/** The layout from the two facts that the kubelet asks its runtime for (`buildSignalToRankFunc`). */
export function diskLayout(hasImageFilesystem: boolean, areLayersOnNodeFilesystem: boolean): DiskLayout {
  if (!hasImageFilesystem) return 'single';
  return areLayersOnNodeFilesystem ? 'imagesApart' : 'imagesAndLayersApart';
}
