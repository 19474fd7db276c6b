//! Numbers with a shape.

use crate::error::Error;
use alloc::{string::ToString, vec::Vec};

/// Row-major numbers with a shape, owned.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<F> {
    shape: Vec<usize>,
    data: Vec<F>,
}

impl<F: Copy> Tensor<F> {
    /// A tensor of `data`, the last axis running fastest.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] when the product of the shape is not the number of values.
    pub fn new(shape: Vec<usize>, data: Vec<F>) -> Result<Self, Error> {
        if shape.iter().product::<usize>() != data.len() {
            return Err(Error::ShapeMismatch {
                what: "tensor".to_string(),
                expected: shape,
                actual: [data.len()].into(),
            });
        }
        Ok(Tensor { shape, data })
    }

    /// The size of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// All values, the last axis running fastest.
    pub fn data(&self) -> &[F] {
        &self.data
    }

    /// The values alone.
    pub fn into_data(self) -> Vec<F> {
        self.data
    }

    /// The value at one index per axis.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for the wrong number of indices, [`Error::IndexOutOfRange`] for one outside.
    ///
    /// ```
    /// # use glassformer::tensor::Tensor;
    /// let t = Tensor::new(vec![2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap();
    /// assert_eq!(t.at(&[1, 0]), Ok(4));
    /// assert!(t.at(&[2, 0]).is_err());
    /// ```
    pub fn at(&self, index: &[usize]) -> Result<F, Error> {
        if index.len() != self.shape.len() {
            return Err(Error::ShapeMismatch {
                what: "index".to_string(),
                expected: [self.shape.len()].into(),
                actual: [index.len()].into(),
            });
        }
        let mut flat = 0;
        for (axis, (&i, &size)) in index.iter().zip(&self.shape).enumerate() {
            if i >= size {
                let what = alloc::format!("index of axis {axis}");
                return Err(Error::IndexOutOfRange { what, index: i as f64, size });
            }
            flat = flat * size + i;
        }
        Ok(self.data[flat])
    }
}
