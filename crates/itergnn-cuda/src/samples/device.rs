//! Samples on the card.

use cudarc::driver::{CudaSlice, DevicePtr, DeviceRepr};

use super::{Edges, Samples};
use crate::layout::{EdgeAddresses, SampleAddresses};
use crate::{CudaError, Gpu};

/// Samples in the card's memory.
pub(crate) struct DeviceSamples {
    /// Offsets of nodes and of targets, rows of targets.
    integers: [CudaSlice<u32>; 3],
    /// Node inputs, targets.
    floats: [CudaSlice<f32>; 2],
    edges: DeviceEdges,
    asked: Option<DeviceEdges>,
}

struct DeviceEdges {
    integers: [CudaSlice<u32>; 5],
    features: CudaSlice<f32>,
}

/// A list on the card; an empty one would have no address.
fn upload<T: DeviceRepr + Default + Clone>(gpu: &Gpu, list: &[T]) -> Result<CudaSlice<T>, CudaError> {
    let nothing = [T::default()];
    Ok(gpu.stream.clone_htod(if list.is_empty() { &nothing[..] } else { list })?)
}

impl DeviceEdges {
    fn upload(gpu: &Gpu, edges: &Edges) -> Result<Self, CudaError> {
        Ok(Self {
            integers: [
                upload(gpu, &edges.offsets)?,
                upload(gpu, &edges.incoming)?,
                upload(gpu, &edges.outgoing)?,
                upload(gpu, &edges.senders)?,
                upload(gpu, &edges.departures)?,
            ],
            features: upload(gpu, &edges.features)?,
        })
    }

    fn addresses(&self, gpu: &Gpu) -> EdgeAddresses {
        let [offsets, incoming, outgoing, senders, departures] =
            self.integers.each_ref().map(|list| list.device_ptr(&gpu.stream).0);
        let features = self.features.device_ptr(&gpu.stream).0;
        EdgeAddresses { offsets, incoming, outgoing, senders, departures, features }
    }
}

impl DeviceSamples {
    pub(crate) fn upload(gpu: &Gpu, samples: &Samples) -> Result<Self, CudaError> {
        gpu.check_memory(samples.bytes())?;
        Ok(Self {
            integers: [
                upload(gpu, &samples.node_offsets)?,
                upload(gpu, &samples.target_offsets)?,
                upload(gpu, &samples.target_rows)?,
            ],
            floats: [upload(gpu, &samples.nodes)?, upload(gpu, &samples.targets)?],
            edges: DeviceEdges::upload(gpu, &samples.edges)?,
            asked: samples.asked.as_ref().map(|edges| DeviceEdges::upload(gpu, edges)).transpose()?,
        })
    }

    pub(crate) fn addresses(&self, gpu: &Gpu) -> SampleAddresses {
        let [node_offsets, target_offsets, target_rows] =
            self.integers.each_ref().map(|list| list.device_ptr(&gpu.stream).0);
        let [nodes, targets] = self.floats.each_ref().map(|list| list.device_ptr(&gpu.stream).0);
        let edges = self.edges.addresses(gpu);
        let asked = self.asked.as_ref().map_or(edges, |asked| asked.addresses(gpu));
        SampleAddresses { node_offsets, target_offsets, nodes, targets, target_rows, edges, asked }
    }
}
