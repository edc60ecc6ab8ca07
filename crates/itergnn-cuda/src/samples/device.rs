//! Samples on the card.

use cudarc::driver::{CudaSlice, DevicePtr};

use super::Samples;
use crate::layout::SampleAddresses;
use crate::{CudaError, Gpu};

/// Samples in the card's memory.
pub(crate) struct DeviceSamples {
    integers: Vec<CudaSlice<u32>>,
    floats: Vec<CudaSlice<f32>>,
}

impl DeviceSamples {
    pub(crate) fn upload(gpu: &Gpu, samples: &Samples) -> Result<Self, CudaError> {
        let stream = &gpu.stream;
        let integers = [
            &samples.node_offsets,
            &samples.edge_offsets,
            &samples.target_offsets,
            &samples.incoming,
            &samples.outgoing,
            &samples.senders,
            &samples.departures,
            &samples.target_rows,
        ];
        let floats = [&samples.nodes, &samples.edges, &samples.targets];
        let bytes: usize = 4
            * (integers.iter().map(|list| list.len()).sum::<usize>()
                + floats.iter().map(|list| list.len()).sum::<usize>());
        gpu.check_memory(bytes as u64)?;
        // An empty list would have no address.
        let integers =
            integers.iter().map(|list| stream.clone_htod(if list.is_empty() { &[0][..] } else { &list[..] }));
        let integers = integers.collect::<Result<_, _>>()?;
        let floats = floats.iter().map(|list| stream.clone_htod(if list.is_empty() { &[0.0][..] } else { &list[..] }));
        let floats = floats.collect::<Result<_, _>>()?;
        Ok(Self { integers, floats })
    }

    pub(crate) fn addresses(&self, gpu: &Gpu) -> SampleAddresses {
        let integer = |index: usize| self.integers[index].device_ptr(&gpu.stream).0;
        let float = |index: usize| self.floats[index].device_ptr(&gpu.stream).0;
        SampleAddresses {
            node_offsets: integer(0),
            edge_offsets: integer(1),
            target_offsets: integer(2),
            nodes: float(0),
            incoming: integer(3),
            outgoing: integer(4),
            senders: integer(5),
            departures: integer(6),
            edges: float(1),
            targets: float(2),
            target_rows: integer(7),
        }
    }
}
