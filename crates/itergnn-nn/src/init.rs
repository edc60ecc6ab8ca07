//! Initial weights, drawn on the host from a seed.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The random numbers initial weights are drawn from: the same seed gives the same bits on every device and platform.
///
/// Burn's own generator is global and differs between backends, so it is not used.
#[derive(Clone, Debug)]
pub struct InitRng {
    generator: ChaCha8Rng,
}

impl InitRng {
    /// A generator for `seed`.
    pub fn new(seed: u64) -> Self {
        Self { generator: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// A number uniform in `[-bound, bound)`, exact in `f32`.
    pub fn symmetric(&mut self, bound: f64) -> f32 {
        // 24 random bits: the numbers a f32 mantissa holds.
        let unit = f64::from(self.generator.next_u32() >> 8) / f64::from(1_u32 << 24);
        (bound * (2.0 * unit - 1.0)) as f32
    }

    /// A trainable tensor with entries uniform in `[-bound, bound)`.
    pub fn uniform<const D: usize>(&mut self, shape: [usize; D], bound: f64, device: &Device) -> Param<Tensor<D>> {
        let values: Vec<f32> = (0..shape.iter().product()).map(|_| self.symmetric(bound)).collect();
        Param::from_data(TensorData::new(values, shape), device)
    }

    /// A trainable tensor by Glorot's rule, `U(-b, b)` with `b = sqrt(6 / (fan_in + fan_out))`: PyG's default for GCN
    /// and GAT.
    pub fn glorot<const D: usize>(
        &mut self,
        shape: [usize; D],
        fan_in: usize,
        fan_out: usize,
        device: &Device,
    ) -> Param<Tensor<D>> {
        self.uniform(shape, (6.0 / (fan_in + fan_out) as f64).sqrt(), device)
    }

    /// An affine map as `torch.nn.Linear` starts: weight and bias uniform in `±1/sqrt(inputs)`.
    ///
    /// # Shapes
    ///
    /// - weight: `[inputs, outputs]`
    /// - bias: `[outputs]`
    pub fn linear(&mut self, inputs: usize, outputs: usize, bias: bool, device: &Device) -> Linear {
        let bound = 1.0 / (inputs.max(1) as f64).sqrt();
        let weight = self.uniform([inputs, outputs], bound, device);
        let bias = bias.then(|| self.uniform([outputs], bound, device));
        Linear { weight, bias }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_fixes_the_numbers() {
        let draw = |seed| {
            let mut rng = InitRng::new(seed);
            (0..4).map(|_| rng.symmetric(0.5)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        assert!(draw(7).iter().all(|value| (-0.5..0.5).contains(value)));
    }
}
